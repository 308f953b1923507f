// Weka's J48 on pairs of files, in one process: the size of its trees, their training errors, and their answers.
//
//     java -cp weka.jar J48Trees.java "options" train.arff test.arff out.csv ["options" train.arff test.arff out.csv ...]
//
// The first line of out.csv is leaves,nodes,training errors; every other line belongs to a row of test.arff: the number of
// the predicted class, then the class probabilities. The class is the last attribute.

import java.io.PrintWriter;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.converters.ConverterUtils.DataSource;

public class J48Trees {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i + 3 < args.length; i += 4) {
            J48 tree = new J48();
            tree.setOptions(Utils.splitOptions(args[i]));
            Instances train = read(args[i + 1]);
            Instances test = read(args[i + 2]);
            tree.buildClassifier(train);
            int errors = 0;
            for (int r = 0; r < train.numInstances(); r++) {
                if (tree.classifyInstance(train.instance(r)) != train.instance(r).classValue()) {
                    errors++;
                }
            }
            try (PrintWriter lines = new PrintWriter(args[i + 3], "UTF-8")) {
                lines.println(tree.measureNumLeaves() + "," + tree.measureTreeSize() + "," + errors);
                for (int r = 0; r < test.numInstances(); r++) {
                    StringBuilder line = new StringBuilder().append(tree.classifyInstance(test.instance(r)));
                    for (double p : tree.distributionForInstance(test.instance(r))) {
                        line.append(",").append(p);
                    }
                    lines.println(line);
                }
            }
        }
    }

    static Instances read(String path) throws Exception {
        Instances data = DataSource.read(path);
        data.setClassIndex(data.numAttributes() - 1);
        return data;
    }
}
